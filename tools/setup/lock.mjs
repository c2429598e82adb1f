import { readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

// The holder touches the file continuously: an old file is stale, even if its process id
// now belongs to another process.
const TOUCH_MS = 2000;
const OLD_MS = 60_000;
const SETTLE_MS = 500;

/** Runs the work while holding the lock; waits while another process holds it, and takes it over from a dead one. */
export async function withLock(file, work) {
  const token = `${process.pid}\n`;
  await take(file, token);
  const touch = setInterval(() => ifThere(() => utimesSync(file, new Date(), new Date())), TOUCH_MS);
  try {
    await work();
  } finally {
    clearInterval(touch);
    if (read(file) === token) ifThere(() => rmSync(file));
  }
}

/** The file may have been deleted, which is no reason to stop. */
function ifThere(act) {
  try {
    act();
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
}

async function take(file, token) {
  let told = false;
  while (!(create(file, token) || (isAbandoned(file) && (await takeOver(file, token))))) {
    if (!told)
      console.error(`set-up: waiting for process ${read(file).trim()}, which is setting up this clone (${file})`);
    told = true;
    await delay(500);
  }
}

function create(file, token) {
  try {
    writeFileSync(file, token, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

/** Two processes may try this concurrently. Each writes its name; the one whose name remains has the lock. */
async function takeOver(file, token) {
  const own = `${file}.${process.pid}`;
  writeFileSync(own, token);
  renameSync(own, file);
  await delay(SETTLE_MS);
  return read(file) === token;
}

function isAbandoned(file) {
  const pid = Number(read(file));
  // Just created and not yet written, or already gone.
  if (pid === 0) return age(file) > SETTLE_MS;
  return !isAlive(pid) || age(file) > OLD_MS;
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function age(file) {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined ? 0 : Date.now() - found.mtimeMs;
}

function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
