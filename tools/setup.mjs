// node tools/setup.mjs [ENTRY ARGS…]
//
// Prepares a clone, then runs ENTRY on the Node that the project pins. Plain JavaScript without dependencies, for any
// Node from 18 on: it runs before anything is installed. One process does both, because a shell caches the location of
// `node` and would run the second command of a script on the old one.

import { installPackages, nodePath } from './setup/install.mjs';
import { runEntry } from './setup/run.mjs';

const [major] = process.versions.node.split('.');
if (Number(major) < 18) {
  fail(`Node ${process.versions.node} is too old to set Slipway up: install Node 18 or newer`);
}
try {
  await installPackages();
} catch (error) {
  fail(error.message);
}
const [entry, ...args] = process.argv.slice(2);
if (entry !== undefined) runEntry(nodePath, entry, args);

function fail(message) {
  console.error(`set-up: ${message}`);
  process.exit(1);
}
