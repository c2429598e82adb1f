// The daemon of a simulated machine that exits when its machine reboots, as in the field, and prints its peak.
import { readFileSync } from 'node:fs';
import { createSimulatedHost } from '@slipway/simulator';
import { runDaemonProgram } from '../../packages/slipway/src/daemon-program.ts';

// Not from getrusage, which reports the peak of the parent process if that is larger.
process.on('exit', () => console.log(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]));

await runDaemonProgram(async (options) => createSimulatedHost({ ...options, onReboot: () => process.exit() }));
