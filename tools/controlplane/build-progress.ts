/** Progress of `go`, counted from its output. */
export interface BuildState {
  phase: 'sources' | 'compile';
  downloaded: number;
  compiled: number;
  /** Packages that have to be compiled. */
  total: number;
}

export const newBuild: BuildState = { phase: 'sources', downloaded: 0, compiled: 0, total: 0 };

/**
 * Parses one line of go's standard error: "go: downloading k8s.io/api v0.36.3" while it fetches, and with -v the name
 * of each package when its compilation starts. Anything else is an error message and returned as undefined.
 */
export function readGoLine(state: BuildState, line: string): BuildState | undefined {
  if (line.startsWith('go: downloading ')) return { ...state, downloaded: state.downloaded + 1 };
  if (/^[\w.~-]+(\/[\w.~-]+)*$/.test(line)) return { ...state, phase: 'compile', compiled: state.compiled + 1 };
  return undefined;
}

/** Progress for the user. */
export function describeBuild(state: BuildState, elapsedMs: number): string {
  if (state.phase === 'sources') return `fetching sources, ${state.downloaded} modules so far`;
  if (state.compiled >= state.total) return 'linking';
  const done = state.compiled / state.total;
  return `${Math.floor(done * 100)} %, package ${state.compiled} of ${state.total}${timeLeft(done, elapsedMs)}`;
}

function timeLeft(done: number, elapsedMs: number): string {
  // Earlier estimates are too optimistic: the first packages are small.
  if (done < 0.1) return '';
  const minutes = Math.ceil((elapsedMs * (1 - done)) / done / 60_000);
  return `, about ${minutes} min left`;
}
