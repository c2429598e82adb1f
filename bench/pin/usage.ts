import { cpuMs, peakMegabytes } from '../server/usage.ts';

export interface Usage {
  readonly cpuSeconds: number;
  /** The most that was ever resident, since the process began. */
  readonly peakMegabytes: number;
}

/** Begins now. */
export function sampleUsage(pid: number): { end(): Promise<Usage> } {
  const before = cpuMs([pid]);
  return {
    async end() {
      const cpuSeconds = ((await cpuMs([pid])) - (await before)) / 1000;
      return { cpuSeconds, peakMegabytes: await peakMegabytes([pid]) };
    },
  };
}
