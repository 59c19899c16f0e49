//! A user: its name, roles and credentials; the stored format, and the format of `usersInfo`. Its
//! privileges are computed by `roles_of::expand`.
//!
//! ```text
//! stored   {format: 1, _id: "db.user", userId: UUID, user, db, credentials: {..},
//!           roles: [{role, db}], customData?, authenticationRestrictions?}
//! ```

use document::{DocBuf, DocRef, Document, Value, ValueRef, doc};

use super::{
    credentials::Credentials,
    restriction::Restriction,
    role::{Inherited, check_format, check_id},
    role_name::{RoleName, UserName},
};
use crate::{
    arguments::Args,
    errors::{Error, Result, UserDataInconsistent},
};

const FORMAT: i64 = 1;

const FIELDS: &[&str] = &[
    "format",
    "_id",
    "userId",
    "user",
    "db",
    "credentials",
    "roles",
    "customData",
    "authenticationRestrictions",
];

/// The database of users who authenticate without a password, for example with a certificate.
pub(crate) const EXTERNAL_DATABASE: &str = "$external";

/// The BSON subtype of a UUID.
const UUID: u8 = 4;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct User {
    pub(crate) name: UserName,
    /// A UUID that distinguishes this user from an earlier one of the same name.
    pub(crate) id: [u8; 16],
    pub(crate) roles: Vec<RoleName>,
    /// Application data stored with the user.
    pub(crate) custom_data: Option<DocBuf>,
    pub(crate) credentials: Credentials,
    /// The addresses from which the user may log in; any if empty.
    pub(crate) restrictions: Vec<Restriction>,
}

/// The fields of a user that `usersInfo` shows besides name, id, roles and mechanisms.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct UserView<'a> {
    pub(crate) credentials: bool,
    /// The option `showCustomData`, which defaults to true.
    pub(crate) custom_data: bool,
    pub(crate) restrictions: bool,
    /// The inherited roles and privileges, with the option `showPrivileges`. The restrictions are
    /// then shown, too.
    pub(crate) inherited: Option<Inherited<'a>>,
}

impl User {
    /// Returns the document to store.
    pub(crate) fn to_stored(&self) -> Document {
        let mut stored = doc! {
            "format": FORMAT,
            "_id": self.name.id(),
            "userId": self.uuid(),
            "user": self.name.user.as_str(),
            "db": self.name.database.as_str(),
            "credentials": self.credentials.to_document(),
            "roles": RoleName::list_to_value(&self.roles),
        };
        if let Some(data) = &self.custom_data {
            stored.push("customData", data.as_ref());
        }
        if !self.restrictions.is_empty() {
            stored
                .push("authenticationRestrictions", Restriction::list_to_value(&self.restrictions));
        }
        stored
    }

    /// Reads a stored user. Fails with 12 if the record has another format, and with 45 if it has
    /// any other content that this server does not store.
    pub(crate) fn from_stored(stored: DocRef<'_>) -> Result<Self> {
        let args = Args::new("user", stored);
        check_format(&args, FORMAT)?;
        Self::read(&args).map_err(|error| Error::new(UserDataInconsistent, error.message))
    }

    fn read(args: &Args<'_>) -> Result<Self> {
        args.allow_only(FIELDS)?;
        let database = args.need_str("db")?;
        let name = UserName::new(args.need_str("user")?, database);
        name.check()?;
        check_id(args, &name.id())?;
        let restrictions = match args.array("authenticationRestrictions")? {
            Some(array) => Restriction::parse_list(array)?,
            None => Vec::new(),
        };
        Ok(Self {
            id: read_uuid(args)?,
            roles: RoleName::parse_list(args.need_array("roles")?, database)?,
            custom_data: args.document("customData")?.map(DocRef::to_buf),
            credentials: Credentials::from_document(args.need_document("credentials")?)?,
            restrictions,
            name,
        })
    }

    /// Returns the user's UUID, as `userId` in replies.
    pub(crate) fn uuid(&self) -> Value {
        Value::Binary { subtype: UUID, bytes: self.id.to_vec() }
    }

    /// Returns the mechanisms as `usersInfo` lists them: `external` for a user of `$external`
    /// without a password.
    pub(crate) fn mechanisms(&self) -> Vec<&'static str> {
        if self.credentials.is_empty() && self.name.database == EXTERNAL_DATABASE {
            return vec!["external"];
        }
        self.credentials.mechanisms()
    }

    /// Returns the user as replies of `usersInfo` show it.
    pub(crate) fn shown(&self, view: UserView<'_>) -> Document {
        let mut shown = doc! {
            "_id": self.name.id(),
            "userId": self.uuid(),
            "user": self.name.user.as_str(),
            "db": self.name.database.as_str(),
        };
        if view.credentials {
            shown.push("credentials", self.credentials.to_document());
        }
        if let Some(data) = self.custom_data.as_ref().filter(|_| view.custom_data) {
            shown.push("customData", data.as_ref());
        }
        shown.push("roles", RoleName::list_to_value(&self.roles));
        let mechanisms: Vec<Value> = self.mechanisms().into_iter().map(Value::from).collect();
        shown.push("mechanisms", mechanisms);
        if view.restrictions || view.inherited.is_some() {
            shown
                .push("authenticationRestrictions", Restriction::list_to_value(&self.restrictions));
        }
        if let Some(inherited) = view.inherited {
            shown.push("inheritedRoles", RoleName::list_to_value(inherited.roles));
            shown.push("inheritedPrivileges", inherited.privileges.to_value());
            // Roles have no authentication restrictions here.
            shown.push("inheritedAuthenticationRestrictions", Vec::<Value>::new());
        }
        shown
    }
}

fn read_uuid(args: &Args<'_>) -> Result<[u8; 16]> {
    match args.get("userId") {
        Some(ValueRef::Binary { subtype: UUID, bytes }) => bytes.try_into().ok(),
        _ => None,
    }
    .ok_or_else(|| Error::new(UserDataInconsistent, "stored user with an invalid userId"))
}

#[cfg(test)]
mod tests {
    use document::array;

    use super::*;
    use crate::{
        access::{builtin, credentials::StoredCredential},
        errors::UnsupportedFormat,
    };

    fn user() -> User {
        let restriction = doc! { "clientSource": array!["10.0.0.0/8"] };
        User {
            name: UserName::new("u.v", "x"),
            id: [7; 16],
            roles: vec![RoleName::new("read", "x"), RoleName::new("b", "y")],
            custom_data: Some(doc! { "a": 1, "b": doc! { "c": "d" } }.to_buf()),
            credentials: Credentials {
                sha1: None,
                sha256: Some(StoredCredential {
                    iterations: 15000,
                    salt: vec![1; 28],
                    stored_key: vec![2; 32],
                    server_key: vec![3; 32],
                }),
            },
            restrictions: vec![Restriction::parse(DocRef::Tree(&restriction)).unwrap()],
        }
    }

    fn bare() -> User {
        User {
            name: UserName::new("CN=u", EXTERNAL_DATABASE),
            roles: Vec::new(),
            custom_data: None,
            credentials: Credentials::default(),
            restrictions: Vec::new(),
            ..user()
        }
    }

    fn names(document: &Document) -> Vec<&str> {
        document.fields().iter().map(|(name, _)| name.as_str()).collect()
    }

    #[test]
    fn a_user_is_read_as_it_was_stored() {
        for user in [user(), bare(), User { custom_data: Some(DocBuf::default()), ..bare() }] {
            let stored = user.to_stored();
            assert_eq!(User::from_stored(DocRef::Tree(&stored)).unwrap(), user);
            assert_eq!(User::from_stored(stored.to_buf().as_ref()).unwrap(), user);
        }
    }

    #[test]
    fn what_was_not_stored_here_is_refused() {
        let with = |field: &str, value: Value| {
            let mut stored = user().to_stored();
            stored.insert(field, value);
            stored
        };
        let uuid = |subtype, count| Value::Binary { subtype, bytes: vec![0; count] };
        for (stored, code) in [
            (with("format", 2.into()), UnsupportedFormat),
            (doc! {}, UnsupportedFormat),
            (with("more", 1.into()), UserDataInconsistent),
            (with("_id", "x.other".into()), UserDataInconsistent),
            (with("user", "".into()), UserDataInconsistent),
            (with("db", "a b".into()), UserDataInconsistent),
            (with("userId", "7".into()), UserDataInconsistent),
            (with("userId", uuid(UUID, 15)), UserDataInconsistent),
            (with("userId", uuid(0, 16)), UserDataInconsistent),
            (with("credentials", Value::from(doc! {})), UserDataInconsistent),
            (with("roles", array![1]), UserDataInconsistent),
            (with("customData", 1.into()), UserDataInconsistent),
            (with("authenticationRestrictions", array![doc! {}]), UserDataInconsistent),
        ] {
            let error = User::from_stored(DocRef::Tree(&stored)).unwrap_err();
            assert_eq!(error.code, code, "{stored:?}");
        }
        for field in ["format", "_id", "userId", "user", "db", "credentials", "roles"] {
            let mut stored = user().to_stored();
            stored.remove(field).unwrap();
            assert!(User::from_stored(DocRef::Tree(&stored)).is_err(), "{field}");
        }
    }

    #[test]
    fn a_user_is_shown_with_what_was_asked_for() {
        let (user, privileges) = (user(), builtin::privileges_of(&user().roles[0]).unwrap());
        let brief = user.shown(UserView::default());
        assert_eq!(names(&brief), ["_id", "userId", "user", "db", "roles", "mechanisms"]);
        assert_eq!(brief.get("_id"), Some(&Value::from("x.u.v")));
        assert_eq!(brief.get("mechanisms"), Some(&array!["SCRAM-SHA-256"]));
        let inherited = Some(Inherited { roles: &user.roles, privileges: &privileges });
        let whole = user.shown(UserView {
            credentials: true,
            custom_data: true,
            restrictions: true,
            inherited,
        });
        let fields = [
            "_id",
            "userId",
            "user",
            "db",
            "credentials",
            "customData",
            "roles",
            "mechanisms",
            "authenticationRestrictions",
            "inheritedRoles",
            "inheritedPrivileges",
            "inheritedAuthenticationRestrictions",
        ];
        assert_eq!(names(&whole), fields);
        assert_eq!(whole.get("inheritedPrivileges"), Some(&privileges.to_value()));
        let view = UserView { custom_data: true, ..UserView::default() };
        let external = bare().shown(view);
        assert_eq!(names(&external), names(&brief), "no custom data, none shown");
        assert_eq!(external.get("mechanisms"), Some(&array!["external"]));
        assert_eq!(external.get("roles"), Some(&array![]));
    }
}
