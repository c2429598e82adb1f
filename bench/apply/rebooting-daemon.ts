// The daemon of a simulated machine that ends when its machine reboots, as it does in the field, and then says what it needed.
import { readFileSync } from 'node:fs';
import { createSimulatedHost } from '@slipway/simulator';
import { runDaemonProgram } from '../../packages/slipway/src/daemon-program.ts';

// Not from getrusage, whose figure is that of the process that started it, if that is larger.
process.on('exit', () => console.log(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]));

await runDaemonProgram(async (options) => createSimulatedHost({ ...options, onReboot: () => process.exit() }));
