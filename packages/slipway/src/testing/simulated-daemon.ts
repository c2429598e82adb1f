// The program that machines run, for machines that are directories: what tests and benchmarks start.
import { createSimulatedHost } from '@slipway/simulator';
import { runDaemonProgram } from '../daemon-program.ts';

await runDaemonProgram(async (options) => createSimulatedHost(options));
