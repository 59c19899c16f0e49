//! The change records of document writes (`changes`).

use bytes::Bytes;
use document::{DocBuf, DocRef};
use pipeline::edit::{Edit, update_description};

use super::{WriteDraft, previous::PreviousVersion};
use crate::{
    changes::{ChangeBody, ChangeKind, DraftedChange},
    error::Halt,
    row::Row,
};

/// Operation that made the new version of a document. It decides the content of the change record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum WriteForm {
    /// The document is new or replaces the previous one as a whole.
    #[default]
    Whole,
    /// Operators were applied to the previous version.
    Operators,
    /// A pipeline, or several statements of a transaction, have computed the document from the
    /// previous version.
    Pipeline,
}

impl WriteForm {
    /// Returns the form of the documents that an edit makes.
    pub(crate) fn of(edit: &Edit) -> Self {
        match edit {
            Edit::Replacement(_) => Self::Whole,
            Edit::Operators(_) => Self::Operators,
            Edit::Pipeline(_) => Self::Pipeline,
        }
    }
}

impl WriteDraft<'_> {
    /// Halts a write that stores a new row over an expired one whose expiration is not in the change
    /// log yet.
    pub(super) async fn check_told(
        &self,
        row_key: &[u8],
        previous: Option<&PreviousVersion>,
    ) -> Result<(), Halt> {
        let replaces = previous.is_some_and(|held| held.row.key == row_key);
        let is_logged = self.view.log().is_some();
        if is_logged && !replaces && self.view.is_untold(row_key).await? {
            return Err(Halt::Unpublished);
        }
        Ok(())
    }

    /// Returns the change record of a write that stores `body` under `row_key`; `None` if changes
    /// are not recorded.
    pub(super) fn logged_put(
        &self,
        row_key: &Bytes,
        body: &DocBuf,
        previous: Option<&PreviousVersion>,
    ) -> Option<DraftedChange> {
        let kept = self.view.log()?;
        let before = self.base.or_else(|| previous.map(|held| held.row.document()));
        let (kind, description) = self.described(before, body);
        let images = self.view.state.keeps_images;
        let whole = kind != ChangeKind::Update;
        let after = body.as_ref();
        Some(kept.draft(
            &self.view.state.record,
            (0, row_key),
            &ChangeBody {
                kind,
                namespace: &self.view.state.record.namespace,
                id: after.get("_id"),
                after: (whole || images).then_some(after),
                before: before.filter(|_| images),
                description: description.as_ref(),
                transaction: self.transaction,
            },
        ))
    }

    /// Returns the kind of a write and its description: an edit is described by its difference,
    /// unless a pipeline has computed a document that is smaller than that.
    fn described(&self, before: Option<DocRef<'_>>, body: &DocBuf) -> (ChangeKind, Option<DocBuf>) {
        let Some(before) = before else { return (ChangeKind::Insert, None) };
        if self.form == WriteForm::Whole {
            return (ChangeKind::Replace, None);
        }
        let description = update_description(before, body.as_ref()).to_buf();
        if self.form == WriteForm::Pipeline
            && body.bytes().len() + EMPTY_DESCRIPTION < description.bytes().len()
        {
            return (ChangeKind::Replace, None);
        }
        (ChangeKind::Update, Some(description))
    }

    /// Returns the change record of the deletion of a row; `None` if changes are not recorded.
    pub(super) fn logged_removal(&self, row: &Row) -> Option<DraftedChange> {
        let kept = self.view.log()?;
        let before = row.document();
        Some(kept.draft(
            &self.view.state.record,
            (0, &row.key),
            &ChangeBody {
                kind: ChangeKind::Delete,
                namespace: &self.view.state.record.namespace,
                id: before.get("_id"),
                after: None,
                before: Some(before).filter(|_| self.view.state.keeps_images),
                description: None,
                transaction: self.transaction,
            },
        ))
    }
}

/// Approximate size of a description without differences, in bytes.
const EMPTY_DESCRIPTION: usize = 100;
