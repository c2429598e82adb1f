/**
 * Resolves at the first Ctrl-C or SIGTERM. A second one ends the process at once: whoever presses it twice means it.
 * (npm passes a Ctrl-C on to us although the terminal has sent it already, hence the moment of grace.)
 */
export function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let first = 0;
    const onSignal = (signal: NodeJS.Signals): void => {
      if (first === 0) {
        first = performance.now();
        resolve(signal);
      } else if (performance.now() - first > 1000) process.exit(130);
    };
    process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  });
}
