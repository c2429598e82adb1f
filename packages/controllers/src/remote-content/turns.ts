export type InTurn = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/**
 * Work on one thing at a time, in the order it came. Two MachineConfigs with the same content share its chunks: while
 * one writes them and then the index that refers to them, they must not be collected for another that needs them no more.
 * One process at a time has the lease, so order within the process is order.
 */
export function createTurns(): InTurn {
  const last = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const turn = (last.get(key) ?? Promise.resolve()).then(work, work);
    last.set(key, turn);
    try {
      return await turn;
    } finally {
      if (last.get(key) === turn) last.delete(key);
    }
  };
}
