import { cpuMs, peakMegabytes } from '../server/usage.ts';

export interface Usage {
  readonly cpuSeconds: number;
  /** Peak resident memory since the process started. */
  readonly peakMegabytes: number;
}

/** Starts measuring now. */
export function sampleUsage(pid: number): { end(): Promise<Usage> } {
  const before = cpuMs([pid]);
  return {
    async end() {
      const cpuSeconds = ((await cpuMs([pid])) - (await before)) / 1000;
      return { cpuSeconds, peakMegabytes: await peakMegabytes([pid]) };
    },
  };
}
