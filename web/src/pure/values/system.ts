// Fields of an item that the server sets. They are read-only.

export const SYSTEM_FIELDS: ReadonlySet<string> = new Set([
  '_rid',
  '_self',
  '_etag',
  '_attachments',
  '_ts',
]);
