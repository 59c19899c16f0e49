//! The records required before the first client connects: the first user, if the server was started
//! with one, and the secret from which the salts of unknown users are derived.

use auth::Secret;

use crate::{
    access::{RoleName, User, UserName},
    api::MongoApi,
    passwords::{NewPassword, new_credentials},
    users::new_user_id,
};

/// The database of the first user.
const DATABASE: &str = "admin";

impl MongoApi {
    /// Creates a user with all rights, with this name and password in `admin`, unless a user
    /// exists. Called before clients are accepted, so that the user exists for all of them. In a
    /// cluster only the owner of the first shard does this.
    ///
    /// The error is a message for the operator.
    pub async fn prepare_access(&self, root: Option<(&str, &Secret)>) -> Result<(), String> {
        if self.users.copy().is_some() {
            return Ok(());
        }
        let prepared = self.make_first_user(root).await;
        prepared.map_err(|error| format!("the first user: {}", error.message))
    }

    async fn make_first_user(&self, root: Option<(&str, &Secret)>) -> crate::errors::Result<()> {
        if self.settings.asks_for_login {
            self.users.secret_key().await?;
        }
        let Some((name, password)) = root else {
            let has_account = self.settings.account.is_some();
            if self.settings.asks_for_login && !has_account && !self.users.has_any() {
                tracing::warn!("no user can log in yet: create one with `ebb admin user add`");
            }
            return Ok(());
        };
        if self.users.has_any() {
            tracing::info!("users already exist: the configured first user is not created");
            return Ok(());
        }
        let name = UserName::new(name, DATABASE);
        name.check()?;
        let password = NewPassword::of_text(&name.user, password)?;
        let user = User {
            id: new_user_id()?,
            roles: vec![RoleName::new("root", DATABASE)],
            custom_data: None,
            credentials: new_credentials(password).await?,
            restrictions: Vec::new(),
            name,
        };
        self.users.put_user(&user, None).await?;
        tracing::info!(user = user.name.to_string(), "created the first user");
        Ok(())
    }
}
