// Reason for disabled settings in a read-only session.
export const READ_ONLY =
  'Read-only session: signed in with a read-only key. Settings cannot be changed.';
