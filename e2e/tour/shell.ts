import { spawn } from 'node:child_process';
import { once } from 'node:events';

export interface ShellResult {
  readonly code: number | null;
  /** What a terminal shows: both streams, in the order of their writes. */
  readonly text: string;
}

export async function runInShell(
  command: string,
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<ShellResult> {
  const child = spawn('sh', ['-c', `${command} 2>&1`], { ...options, stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, text };
}
