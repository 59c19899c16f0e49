// Reason for disabled settings in a read-only session.
export const READ_ONLY =
  'This session may only read: it was signed in with a read-only key. Nothing here can be changed.';
