// The program that machines run, for simulated machines. Tests and benchmarks start it.
import { createSimulatedHost } from '@slipway/simulator';
import { runDaemonProgram } from '../daemon-program.ts';

await runDaemonProgram(async (options) => createSimulatedHost(options));
