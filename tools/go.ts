// Programs that are built once from pinned Go modules.
import { ToolsError } from './controlplane/errors.ts';
import { run, RunError } from './run.ts';

/** Nothing that the user has set for other projects may change what is built. */
export function goEnvironment(env: NodeJS.ProcessEnv, cgo: '0' | '1'): NodeJS.ProcessEnv {
  return {
    ...env,
    GOFLAGS: '-mod=readonly',
    GOTOOLCHAIN: 'local',
    GOWORK: 'off',
    GOOS: '',
    GOARCH: '',
    CGO_ENABLED: cgo,
  };
}

export interface GoProgram {
  /** As messages call it: `the Ignition client`. */
  readonly name: string;
  /** The oldest Go that builds it: `1.26`. */
  readonly least: string;
  /** Beside Go, in words: `a C compiler`. */
  readonly needs: string;
}

export interface GoBuild {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** How far it is, for whoever waits. */
  readonly tell: (detail: string) => void;
}

/** `go build` with these arguments, at low priority. */
export async function buildWithGo(program: GoProgram, args: readonly string[], build: GoBuild): Promise<void> {
  const { cwd, env, tell } = build;
  let packages = 0;
  const onLine = (): void => tell(`${(packages += 1)} packages`);
  try {
    await run('nice', ['go', 'build', '-v', '-trimpath', ...args], { cwd, env, onLine });
  } catch (error) {
    if (!(error instanceof RunError) || !error.isMissing) throw failedBuild(program, error);
    throw new ToolsError(
      'SLW_TOOLS_NO_GO',
      `${program.name} has to be built and there is no Go on PATH: install Go ${program.least} or newer and a C compiler`,
    );
  }
}

/** What to throw for a program of a build that failed. */
export function failedBuild({ name, least, needs }: GoProgram, error: unknown): unknown {
  if (!(error instanceof RunError)) return error;
  const said = error.said.split('\n').slice(-5);
  return new ToolsError(
    'SLW_TOOLS_BUILD_FAILED',
    [
      `building ${name} failed: it ended with ${error.end}. It needs Go ${least} or newer, ${needs}, and the Go module proxy`,
      ...said.map((line) => `  ${line.slice(0, 400)}`),
    ].join('\n'),
  );
}
