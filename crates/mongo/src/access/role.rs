//! A user-defined role: its own privileges, and the roles that it inherits from; the stored format,
//! and the format of `rolesInfo`.
//!
//! ```text
//! stored   {format: 1, _id: "db.role", role, db, privileges: [{resource, actions}],
//!           roles: [{role, db}]}
//! ```

use document::{DocRef, Document, doc};

use super::{builtin, privilege::Privileges, role_name::RoleName};
use crate::{
    arguments::Args,
    errors::{Error, InvalidRoleModification, Result, RoleDataInconsistent, UnsupportedFormat},
};

const FORMAT: i64 = 1;

const FIELDS: &[&str] = &["format", "_id", "role", "db", "privileges", "roles"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Role {
    pub(crate) name: RoleName,
    /// Privileges that the role itself grants, without inherited ones.
    pub(crate) privileges: Privileges,
    /// The roles from which this role directly inherits.
    pub(crate) roles: Vec<RoleName>,
}

/// Roles and privileges that a role or a user inherits, as computed by `roles_of::expand`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inherited<'a> {
    /// All inherited roles, direct and indirect.
    pub(crate) roles: &'a [RoleName],
    /// The privileges of the inherited roles; for a role, together with its own.
    pub(crate) privileges: &'a Privileges,
}

impl Role {
    /// Checks that a role in this database may have its privileges and inherited roles (49).
    /// Outside `admin` they must belong to the role's own database. No role may inherit from
    /// itself.
    pub(crate) fn check_scope(&self) -> Result<()> {
        let database = self.name.database.as_str();
        self.privileges.check_scope(database)?;
        let message = if self.roles.contains(&self.name) {
            format!("Cannot grant role {} to itself.", self.name)
        } else if database != "admin" && self.roles.iter().any(|role| role.database != database) {
            format!(
                "Roles on the '{database}' database cannot be granted roles from other databases"
            )
        } else {
            return Ok(());
        };
        Err(Error::new(InvalidRoleModification, message))
    }

    /// Returns the document to store.
    pub(crate) fn to_stored(&self) -> Document {
        doc! {
            "format": FORMAT,
            "_id": self.name.id(),
            "role": self.name.role.as_str(),
            "db": self.name.database.as_str(),
            "privileges": self.privileges.to_value(),
            "roles": RoleName::list_to_value(&self.roles),
        }
    }

    /// Reads a stored role. Fails with 12 if the record has another format, and with 80 if it has
    /// any other content that this server does not store.
    pub(crate) fn from_stored(stored: DocRef<'_>) -> Result<Self> {
        let args = Args::new("role", stored);
        check_format(&args, FORMAT)?;
        Self::read(&args).map_err(|error| Error::new(RoleDataInconsistent, error.message))
    }

    fn read(args: &Args<'_>) -> Result<Self> {
        args.allow_only(FIELDS)?;
        let database = args.need_str("db")?;
        let name = RoleName::new(args.need_str("role")?, database);
        name.check()?;
        check_id(args, &name.id())?;
        Ok(Self {
            privileges: Privileges::parse(args.need_array("privileges")?)?,
            roles: RoleName::parse_list(args.need_array("roles")?, database)?,
            name,
        })
    }

    /// Returns an entry of `rolesInfo`. `show_privileges` adds the role's own and its inherited
    /// privileges.
    pub(crate) fn shown(&self, show_privileges: bool, inherited: Inherited<'_>) -> Document {
        let mut shown = doc! {
            "_id": self.name.id(),
            "role": self.name.role.as_str(),
            "db": self.name.database.as_str(),
        };
        if show_privileges {
            shown.push("privileges", self.privileges.to_value());
        }
        shown.push("roles", RoleName::list_to_value(&self.roles));
        shown.push("inheritedRoles", RoleName::list_to_value(inherited.roles));
        if show_privileges {
            shown.push("inheritedPrivileges", inherited.privileges.to_value());
        }
        shown.push("isBuiltin", builtin::is_builtin(&self.name));
        shown
    }
}

/// Checks the format of a stored user or role (12). A newer format is refused, since an unknown
/// field might be a restriction.
pub(super) fn check_format(args: &Args<'_>, known: i64) -> Result<()> {
    match args.int("format") {
        Ok(Some(format)) if format == known => Ok(()),
        found => {
            let found = found.ok().flatten().map_or("none".to_owned(), |format| format.to_string());
            let message =
                format!("stored {} has format {found}; this version reads {known}", args.of);
            Err(Error::new(UnsupportedFormat, message))
        }
    }
}

/// Checks that the `_id` of a stored user or role matches its name.
pub(super) fn check_id(args: &Args<'_>, id: &str) -> Result<()> {
    if args.need_str("_id")? == id {
        return Ok(());
    }
    Err(Error::new(RoleDataInconsistent, format!("stored {} with the _id of another", args.of)))
}

#[cfg(test)]
mod tests {
    use document::{Value, array};

    use super::*;
    use crate::access::{
        action::{Action, Actions},
        privilege::Privilege,
        resource::Resource,
    };

    fn role() -> Role {
        let mut privileges = Privileges::new();
        let resource = Resource::namespace("x", "c");
        privileges.add(Privilege::new(resource, Actions::of(&[Action::Find]))).unwrap();
        let roles = vec![RoleName::new("read", "x"), RoleName::new("b", "x")];
        Role { name: RoleName::new("r", "x"), privileges, roles }
    }

    fn stored_with(field: &str, value: impl Into<Value>) -> Document {
        let mut stored = role().to_stored();
        stored.insert(field, value);
        stored
    }

    #[test]
    fn a_role_is_read_as_it_was_stored() {
        let stored = role().to_stored();
        assert_eq!(Role::from_stored(DocRef::Tree(&stored)).unwrap(), role());
        assert_eq!(Role::from_stored(stored.to_buf().as_ref()).unwrap(), role());
        for name in builtin::names_for("admin") {
            let role = builtin::role(&name).unwrap();
            let stored = role.to_stored();
            assert_eq!(Role::from_stored(DocRef::Tree(&stored)).unwrap(), role);
        }
    }

    #[test]
    fn what_was_not_stored_here_is_refused() {
        for (stored, code) in [
            (stored_with("format", 2), UnsupportedFormat),
            (stored_with("format", "1"), UnsupportedFormat),
            (stored_with("format", Value::Null), UnsupportedFormat),
            (doc! {}, UnsupportedFormat),
            (stored_with("more", 1), RoleDataInconsistent),
            (stored_with("_id", "x.other"), RoleDataInconsistent),
            (stored_with("role", ""), RoleDataInconsistent),
            (stored_with("db", 1), RoleDataInconsistent),
            (stored_with("privileges", array![1]), RoleDataInconsistent),
            (stored_with("roles", 1), RoleDataInconsistent),
        ] {
            let error = Role::from_stored(DocRef::Tree(&stored)).unwrap_err();
            assert_eq!(error.code, code, "{stored:?}");
        }
        for field in FIELDS {
            let mut stored = role().to_stored();
            stored.remove(field).unwrap();
            assert!(Role::from_stored(DocRef::Tree(&stored)).is_err(), "{field}");
        }
    }

    #[test]
    fn a_role_is_shown_with_what_was_asked_for() {
        let role = role();
        let mut privileges = builtin::privileges_of(&role.roles[0]).unwrap();
        privileges.add_all(&role.privileges).unwrap();
        let inherited = Inherited { roles: &role.roles[..1], privileges: &privileges };
        let names = |document: &Document| {
            document.fields().iter().map(|(name, _)| name.clone()).collect::<Vec<_>>()
        };
        let brief = role.shown(false, inherited);
        assert_eq!(names(&brief), ["_id", "role", "db", "roles", "inheritedRoles", "isBuiltin"]);
        let whole = role.shown(true, inherited);
        let fields = [
            "_id",
            "role",
            "db",
            "privileges",
            "roles",
            "inheritedRoles",
            "inheritedPrivileges",
            "isBuiltin",
        ];
        assert_eq!(names(&whole), fields);
        assert_eq!(whole.get("_id"), Some(&Value::from("x.r")));
        assert_eq!(whole.get("isBuiltin"), Some(&Value::from(false)));
        assert_eq!(whole.get("inheritedRoles"), Some(&array![doc! { "role": "read", "db": "x" }]));
        assert_eq!(whole.get("inheritedPrivileges"), Some(&privileges.to_value()));
        let read = builtin::role(&role.roles[0]).unwrap().shown(false, inherited);
        assert_eq!(read.get("isBuiltin"), Some(&Value::from(true)));
    }

    #[test]
    fn a_role_has_only_what_its_database_may_give() {
        let with = |database: &str, roles: &[RoleName]| Role {
            name: RoleName::new("r", database),
            privileges: role().privileges,
            roles: roles.to_vec(),
        };
        let of = RoleName::new;
        for (role, permitted) in [
            (with("x", &[]), true),
            (with("x", &[of("a", "x")]), true),
            (with("x", &[of("a", "admin")]), false),
            (with("x", &[of("r", "x")]), false),
            (with("y", &[]), false),
            (with("admin", &[of("a", "x"), of("r", "x")]), true),
            (with("admin", &[of("r", "admin")]), false),
        ] {
            let code = role.check_scope().err().map(|error| error.code);
            assert_eq!(code.is_none(), permitted, "{role:?}");
            assert!(code.is_none_or(|code| code == InvalidRoleModification));
        }
    }
}
