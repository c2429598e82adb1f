import { bundleDaemon } from './bundle.ts';

await bundleDaemon();
