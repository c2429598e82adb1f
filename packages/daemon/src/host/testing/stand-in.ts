// A stand-in for rpm-ostree, bootc and podman, which identifies itself as such. It implements what their sources and
// transcripts of users show, with their messages and exit statuses, for the calls that Slipway makes. The real programs
// were not run: these tests show that Slipway works with programs that behave like this.
import { type StandInResult, Failed } from './stand-in-result.ts';
import { runBootc } from './stand-in-bootc.ts';
import { runPodman } from './stand-in-podman.ts';
import { runRpmOstree } from './stand-in-rpm-ostree.ts';
import { readStandIn, type StandInState, writeStandIn } from './stand-in-state.ts';

const STAND_IN_PROGRAMS: Readonly<Record<string, (state: StandInState, args: readonly string[]) => StandInResult>> = {
  'rpm-ostree': runRpmOstree,
  bootc: runBootc,
  podman: runPodman,
};

/** One call of the program, with the state in a directory. */
export function callStandIn(
  directory: string,
  name: string,
  args: readonly string[],
): { status: number; stdout: string; stderr: string } {
  const before = readStandIn(directory);
  const { status = 0, stdout = '', stderr = '', state = before } = answer(before, name, args);
  writeStandIn(directory, { ...state, calls: [...before.calls, [name, ...args].join(' ')] });
  return { status, stdout, stderr };
}

function answer(state: StandInState, name: string, args: readonly string[]): StandInResult {
  const call = [name, ...args].join(' ');
  const failure = state.failures.find((each) => each.times > 0 && call.startsWith(each.call));
  if (failure !== undefined) {
    const failures = state.failures.map((each) => (each === failure ? { ...each, times: each.times - 1 } : each));
    return { status: 1, stderr: `${failure.stderr}\n`, state: { ...state, failures } };
  }
  try {
    return STAND_IN_PROGRAMS[name]?.(state, args) ?? { status: 127, stderr: `no stand-in for ${name}\n` };
  } catch (error) {
    if (error instanceof Failed) return { status: error.status, stderr: `error: ${error.message}\n` };
    throw error;
  }
}
