"""The command line: `kerata demo`, `kerata doctor`, `kerata run script.py`."""

__all__ = ["main"]


def main(arguments=None):
    """Run the `kerata` command with `arguments` (by default those of the process) and exit."""
    from kerata.cli.app import app

    script = []
    try:
        app(args=arguments, prog_name="kerata", obj=script)
    except SystemExit as end:
        # A script starts only here, with the command line's own frames and handlers out of its way.
        if end.code or not script:
            raise
    script[0].run()
