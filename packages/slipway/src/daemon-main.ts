// What machines run.
import { runDaemonProgram } from './daemon-program.ts';

await runDaemonProgram();
