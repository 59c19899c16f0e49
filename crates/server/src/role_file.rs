//! The file of `--cosmos-roles`: which Entra tokens the NoSQL API accepts, and the roles of their
//! holders. The API defines what a role permits.

use std::{fs, path::Path};

use auth::Issuer;
use cosmos::{Roles, TokenRules};
use serde::Deserialize;
use server_base::failure::Failure;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RoleFile {
    /// File with the issuer's public keys (JWKS); relative paths start at this file's directory.
    #[serde(default)]
    keys: Option<String>,
    #[serde(default)]
    audience: Vec<String>,
    /// Issuer that tokens must have, if given.
    #[serde(default)]
    issuer: Option<String>,
    /// Whether to accept tokens as clients of the emulators create them, signed with an account
    /// key; by default only without `keys`.
    #[serde(default)]
    emulator_tokens: Option<bool>,
    #[serde(default)]
    role: Vec<OwnRole>,
    #[serde(default)]
    assignment: Vec<Assigned>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OwnRole {
    name: String,
    actions: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Assigned {
    principal: String,
    role: String,
    scope: String,
}

/// Reads the file; without one, a token signed with an account key has that key's rights.
pub(crate) fn read_roles(file: Option<&Path>) -> Result<TokenRules, Failure> {
    let Some(file) = file else { return Ok(TokenRules::default()) };
    read_rules(file)
        .map_err(|why| Failure::Usage(format!("--cosmos-roles {}: {why}", file.display())))
}

fn read_rules(file: &Path) -> Result<TokenRules, String> {
    let text = fs::read_to_string(file).map_err(|error| error.to_string())?;
    let read: RoleFile = toml::from_str(&text).map_err(|error| error.to_string())?;
    let issuer = match &read.keys {
        None if !read.audience.is_empty() || read.issuer.is_some() => {
            return Err("audience and issuer need keys".to_owned());
        }
        None => None,
        Some(_) if read.audience.is_empty() => {
            return Err("keys need an audience".to_owned());
        }
        Some(keys) => {
            let path = file.parent().unwrap_or(Path::new("")).join(keys);
            let wrong = |why: String| format!("keys {}: {why}", path.display());
            let keys = fs::read_to_string(&path).map_err(|error| wrong(error.to_string()))?;
            Some(Issuer::new(&keys, &read.audience, read.issuer.as_deref()).map_err(wrong)?)
        }
    };
    let emulator_tokens = read.emulator_tokens.unwrap_or(issuer.is_none());
    let own: Vec<_> = read.role.into_iter().map(|role| (role.name, role.actions)).collect();
    let assigned = read.assignment.into_iter();
    let assigned: Vec<_> = assigned.map(|it| (it.principal, it.role, it.scope)).collect();
    Ok(TokenRules { issuer, emulator_tokens, roles: Some(Roles::new(&own, &assigned)?) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of a public key in RFC 7517, appendix A.1, on the curve P-256.
    const PUBLIC: &str = r#"{"keys":[{"kty":"EC","crv":"P-256","kid":"k",
        "x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
        "y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"}]}"#;

    #[test]
    fn what_the_file_may_say() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("roles.toml");
        let shared = r#"{"keys":[{"kty":"oct","kid":"k","k":"c2VjcmV0"}]}"#;
        fs::write(folder.path().join("shared.json"), shared).unwrap();
        let assigned = "[[assignment]]\nprincipal = \"ann\"\nrole = \"reader\"\nscope = \"/\"\n";
        for (text, why) in [
            ("", ""),
            (assigned, ""),
            ("[[role]]\nname = \"mine\"\nactions = [\"readMetadata\"]\n", ""),
            ("[[assignment]]\nprincipal = \"ann\"\n", "role"),
            (&assigned.replace("scope", "scopes"), "scopes"),
            (&assigned.replace("reader", "owner"), "role 'owner' does not exist"),
            ("issuer = \"x\"\n", "need keys"),
            ("keys = \"shared.json\"\n", "need an audience"),
            ("keys = \"none.json\"\naudience = [\"x\"]\n", "none.json"),
            ("keys = \"shared.json\"\naudience = [\"x\"]\n", "shared secret"),
            ("emulator_tokens = true\n", ""),
            ("emulator_tokens = 1\n", "emulator_tokens"),
            ("[", "TOML"),
        ] {
            fs::write(&file, text).unwrap();
            let refused = read_roles(Some(&file)).err().map(|error| error.to_string());
            let found = refused.unwrap_or_default();
            assert!(found.contains(why) && found.is_empty() == why.is_empty(), "{text}: {found}");
        }
        for (text, want) in [
            ("", true),
            ("emulator_tokens = false\n", false),
            ("keys = \"k.json\"\naudience = [\"x\"]\n", false),
            ("keys = \"k.json\"\naudience = [\"x\"]\nemulator_tokens = true\n", true),
        ] {
            fs::write(folder.path().join("k.json"), PUBLIC).unwrap();
            fs::write(&file, text).unwrap();
            assert_eq!(read_roles(Some(&file)).unwrap().emulator_tokens, want, "{text}");
        }
        assert!(read_roles(None).unwrap().emulator_tokens);
        assert!(read_roles(None).unwrap().roles.is_none());
        assert!(read_roles(Some(&folder.path().join("missing"))).is_err());
    }
}
