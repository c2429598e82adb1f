// node tools/bundle/main.ts command|daemon
import { bundleDaemon } from './bundle.ts';
import { bundleCommand } from './command.ts';

await (process.argv[2] === 'daemon' ? bundleDaemon() : bundleCommand());
