// The command line for a backup of this server; the portal cannot make backups itself.
import { say, toast } from '../../state/log';
import { copyText } from '../../ui/clipboard';

/** Returns the command for an admin address, with a placeholder for the target directory. Pure. */
export function backupCommand(host: string, needsKey: boolean): string {
  const key = needsKey ? ' --key-file KEY-FILE' : '';
  return `ebb backup --admin-addr ${host}${key} DIRECTORY`;
}

export async function copyBackupCommand(needsKey: boolean): Promise<void> {
  const command = backupCommand(location.host, needsKey);
  if (await copyText(command)) toast({ text: `Copied: ${command}`, topic: 'backup' });
  else say({ kind: 'note', text: command });
}
