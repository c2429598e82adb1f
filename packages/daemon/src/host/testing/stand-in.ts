// A stand-in for rpm-ostree, bootc and podman. It is none of them and says so. It does what their sources and users' transcripts
// say that they do, with their texts and statuses, as far as Slipway calls them; none of the real ones was run. What its tests
// show is that Slipway drives programs that behave like this.
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

/** One call of the program, on the state in a directory. */
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
