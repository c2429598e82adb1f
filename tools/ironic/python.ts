import { ToolsError } from '../controlplane/errors.ts';
import { isAtLeast, parseVersion, type Version } from '../controlplane/programs.ts';
import { run } from '../run.ts';

export interface Python {
  path: string;
  version: string;
}

// The versions that the pinned wheels support.
const FROM: Version = [3, 11, 0];
const BELOW: Version = [3, 14, 0];

const NAMES = ['python3', 'python3.13', 'python3.12', 'python3.11'];

/** The first suitable Python of the machine. */
export async function findPython(env: NodeJS.ProcessEnv, names: readonly string[] = NAMES): Promise<Python> {
  const seen: string[] = [];
  for (const name of names) {
    const python = await probePython(name, env);
    if (python === undefined) continue;
    const version = parseVersion(python.version);
    if (version !== undefined && isAtLeast(version, FROM) && !isAtLeast(version, BELOW)) return python;
    seen.push(`${python.path} (${python.version})`);
  }
  const found = seen.length === 0 ? 'none' : seen.join(', ');
  throw new ToolsError(
    'SLW_TOOLS_NO_PYTHON',
    `Ironic needs Python 3.11 to 3.13, found on PATH: ${found}. Install one of them; tests that need Ironic are skipped without it`,
  );
}

/** Its real path, not that of a link or a shim, which may point elsewhere tomorrow. */
async function probePython(name: string, env: NodeJS.ProcessEnv): Promise<Python | undefined> {
  const program = 'import sys; print(sys.version.split()[0], sys.executable)';
  const answer = await run(name, ['-c', program], { env, timeoutMs: 30_000 }).catch(() => '');
  const [, version, path] = /^(\S+) (.+)$/m.exec(answer) ?? [];
  return version === undefined || path === undefined ? undefined : { version, path };
}
