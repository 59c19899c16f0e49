// Removes a test's folder with retries: files may be added concurrently, and it was once found not
// empty after its server had ended.
import { rmSync } from 'node:fs';

export function removeFolder(folder: string, attempts = 10): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOTEMPTY' || attempts <= 1) throw error;
    removeFolder(folder, attempts - 1);
  }
}
