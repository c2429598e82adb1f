/**
 * Aborted at the first Ctrl-C or SIGTERM; its reason is the signal's name. A second one ends the process at once:
 * whoever presses it twice means it. (npm passes a Ctrl-C on to us although the terminal has sent it already, hence
 * the moment of grace.)
 */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  let first = 0;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (!stop.signal.aborted) {
      first = performance.now();
      stop.abort(signal);
    } else if (performance.now() - first > 1000) process.exit(130);
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  return stop.signal;
}
