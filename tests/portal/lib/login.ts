// An account with its own keys, and login with one of them.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import type { Options } from './server';

const made = (text: string) => Buffer.from(text.padEnd(64, '.')).toString('base64');

/** A key with all rights. */
export const PRIMARY = made('primary of the tests');
/** A read-only key. */
export const READER = made('reader of the tests');

const folder = process.env.EBB_PORTAL_OUT ?? '/tmp/ebb-portal-tests';
const file = join(folder, `keys-${process.pid}`);
mkdirSync(folder, { recursive: true });
writeFileSync(file, `primary = ${PRIMARY}\nprimary-readonly = ${READER}\n`, { mode: 0o600 });

/** Options of a server with these keys. */
export const KEYED: Options = { flags: ['--key-file', file, '--mongo-no-auth'], key: PRIMARY };

export async function signIn(page: Page, key: string) {
  await page.getByLabel('Account key', { exact: true }).fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
}
