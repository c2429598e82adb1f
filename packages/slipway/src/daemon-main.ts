// The program that machines run.
import { runDaemonProgram } from './daemon-program.ts';

await runDaemonProgram();
