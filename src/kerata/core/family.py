"""A family of named objects (losses, initializers, …): its `get`, `serialize` and `deserialize`."""

import importlib
import inspect

from kerata.core import errors, names


class Family:
    """What stands behind a package's `get`, `serialize` and `deserialize`.

    Names are looked up in the package's own lazy face, so nothing is imported before it's asked for.

    Args:
        kind: what a member is called in messages ("loss").
        package: the package whose public names are the members ("kerata.losses").
        base: name of the class that all member classes descend from; itself not a member.
        aliases: `{other spelling: public name}`.
        instances_only: whether names of functions are left out (initializers) or count (losses).
    """

    def __init__(self, kind, package, base, aliases=None, instances_only=True):
        self.kind = kind
        self.package = package
        self.base = base
        self.aliases = aliases or {}
        self.instances_only = instances_only
        self._by_spelling = None

    def get(self, identifier):
        """A member from its name, config, class or instance; `None` stays `None`."""
        if identifier is None:
            return None
        if isinstance(identifier, str):
            return self._made(self.named(identifier))
        if isinstance(identifier, dict):
            return self.deserialize(identifier)
        if callable(identifier):
            return self._made(identifier)
        raise ValueError(
            f"Could not interpret {self.kind} identifier: {identifier!r} ({type(identifier).__name__}). "
            f"Give a name, a config, a callable or an instance of a class in {self.public_module}."
        )

    def serialize(self, member):
        """Config of a member, from which `deserialize` makes it again."""
        from kerata.core import serialization

        return serialization.serialize_keras_object(member)

    def deserialize(self, config, custom_objects=None):
        """The member that a config (or a name) describes."""
        from kerata.core import serialization

        if isinstance(config, str):
            return self._made(self.named(config, custom_objects))
        if not isinstance(config, dict) or "class_name" not in config:
            raise ValueError(
                f"{self.public_module}.deserialize: a config is a dict with the keys 'class_name' and "
                "'config', "
                f"not {config!r}."
            )
        if "module" in config:
            return self._made(serialization.deserialize_keras_object(config, custom_objects=custom_objects))
        # The short form of older files: the class may be spelled in any of the ways that `get` knows.
        cls = self.named(config["class_name"], custom_objects)
        arguments = config.get("config") or {}
        if isinstance(arguments, str):
            return self._made(self.named(arguments, custom_objects))
        return cls.from_config(arguments) if inspect.isclass(cls) else cls

    def named(self, name, custom_objects=None):
        """The class or function that `name` stands for."""
        from kerata.core import registry

        own = custom_objects.get(name) if custom_objects else None
        found = own or registry.get_registered_object(name)
        if found is None:
            public = self._spellings().get(name) or self._spellings().get(name.lower())
            if public is None:
                raise ValueError(
                    f"Could not interpret {self.kind} identifier: {name!r}."
                    f"{errors.nearest(name, self._usual_spellings())} {self._listing()}"
                )
            found = getattr(importlib.import_module(self.package), public)
        return found

    @property
    def public_module(self):
        return self.package.replace("kerata", "keras", 1)

    def _made(self, found):
        """An instance where a class was found."""
        return found() if inspect.isclass(found) else found

    def _spellings(self):
        """`{spelling: public name}`: the names themselves, snake case, lower case, aliases."""
        if self._by_spelling is None:
            members = [n for n in importlib.import_module(self.package).__all__ if self._is_member(n)]
            spellings = {}
            for spell in (str.lower, names.to_snake_case, str):
                spellings.update({spell(n): n for n in members if n[0].isupper()})
            # A function goes before a class whose name is spelled alike.
            spellings.update({n: n for n in members if n[0].islower()})
            self._by_spelling = {**spellings, **self.aliases}
        return self._by_spelling

    def _is_member(self, name):
        if name in ("get", "serialize", "deserialize", self.base) or name.startswith("_"):
            return False
        if name[0].islower():
            return not self.instances_only
        return True

    def _usual_spellings(self):
        return {
            *self._spellings().values(),
            *self.aliases,
            *map(names.to_snake_case, self._spellings().values()),
        }

    def _listing(self):
        known = sorted(names.to_snake_case(n) for n in set(self._spellings().values()))
        shown = ", ".join(known[:12]) + (", …" if len(known) > 12 else "")
        return f"Known: {shown}. A class of your own needs `@keras.saving.register_keras_serializable()`."
