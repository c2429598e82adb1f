// Programs that are built once from pinned Go modules.
import { ToolsError } from './controlplane/errors.ts';
import { run, RunError } from './run.ts';

/** Settings of the user for other projects must not affect the build. */
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
  /** The name in messages: `the Ignition client`. */
  readonly name: string;
  /** The oldest Go that can build it: `1.26`. */
  readonly least: string;
  /** Other requirements, as text: `a C compiler`. */
  readonly needs: string;
}

export interface GoBuild {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Progress for the user. */
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
      `${program.name} must be built, but there is no Go on PATH: install Go ${program.least} or newer and a C compiler`,
    );
  }
}

/** The error for a failed build. */
export function failedBuild({ name, least, needs }: GoProgram, error: unknown): unknown {
  if (!(error instanceof RunError)) return error;
  const said = error.said.split('\n').slice(-5);
  return new ToolsError(
    'SLW_TOOLS_BUILD_FAILED',
    [
      `building ${name} failed: it exited with ${error.end}. It needs Go ${least} or newer, ${needs}, and the Go module proxy`,
      ...said.map((line) => `  ${line.slice(0, 400)}`),
    ].join('\n'),
  );
}
