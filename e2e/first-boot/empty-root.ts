import { chown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What an OS image brings that Ignition looks at: accounts, and the name of an SELinux policy. */
const files: Record<string, { text: string; mode?: number }> = {
  'etc/passwd': {
    text: 'root:x:0:0:root:/root:/bin/bash\ncore:x:1000:1000:Machine Admin:/home/core:/bin/bash\n',
  },
  'etc/group': { text: 'root:x:0:\nadm:x:4:\nwheel:x:10:\nsudo:x:16:\nsystemd-journal:x:190:\ncore:x:1000:\n' },
  'etc/shadow': { text: 'root:*:20000:0:99999:7:::\ncore:*:20000:0:99999:7:::\n', mode: 0o600 },
  'etc/gshadow': {
    text: 'root:*::\nadm:*::\nwheel:*::\nsudo:*::\nsystemd-journal:*::\ncore:!::\n',
    mode: 0o600,
  },
  'etc/selinux/config': { text: 'SELINUX=disabled\nSELINUXTYPE=none\n' },
};

const CORE = 1000;

export async function makeEmptyRoot(root: string): Promise<void> {
  for (const path of ['home', 'etc/selinux']) await mkdir(join(root, path), { recursive: true });
  for (const path of ['root', 'home/core']) await mkdir(join(root, path), { mode: 0o700 });
  await chown(join(root, 'home/core'), CORE, CORE);
  for (const [path, { text, mode = 0o644 }] of Object.entries(files)) {
    await writeFile(join(root, path), text, { mode });
  }
}

/** What is in a root before the boot (the directories above included), and what useradd and usermod change or leave beside it. */
export const baseFiles: ReadonlySet<string> = new Set([
  ...Object.keys(files).map((path) => `/${path}`),
  ...['passwd', 'group', 'shadow', 'gshadow'].map((name) => `/etc/${name}-`),
  '/etc/.pwd.lock',
  '/root',
  '/home/core',
  // A note of Ignition's own about the run.
  '/etc/.ignition-result.json',
]);
