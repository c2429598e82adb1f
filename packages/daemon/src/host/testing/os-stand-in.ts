// The stand-in as a program: `os-stand-in.ts DIRECTORY NAME ARGUMENTS…`, where NAME is the program that it replaces.
import { callStandIn } from './stand-in.ts';

const [directory = '', name = '', ...args] = process.argv.slice(2);
const { status, stdout, stderr } = callStandIn(directory, name, args);
process.stdout.write(stdout);
process.stderr.write(stderr);
process.exitCode = status;
