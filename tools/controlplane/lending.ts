// Control planes that tests of one process reuse. Starting one takes some six seconds of a core, restoring its objects
// less than one.
import { setTimeout as wait } from 'node:timers/promises';
import { cutAuditLog } from './audit-policy.ts';
import { startControlPlane, type ControlPlane, type ControlPlaneOptions } from './control-plane.ts';
import type { RememberedObjects } from './objects.ts';

interface Lent {
  readonly controlPlane: ControlPlane;
  readonly objects: RememberedObjects;
  readonly copyOf: string | undefined;
}

const idle: Lent[] = [];
/** The API server observes restored objects a moment later, each kind independently. */
const HEARD_MS = 500;

/**
 * Like a new control plane, but with arbitrary certificates, ports and times. Its audit log starts empty. `stop`
 * returns it to the pool; the last ones end with the process. One whose API server was killed is not lent again.
 */
export async function borrowControlPlane(options: Pick<ControlPlaneOptions, 'copyOf'> = {}): Promise<ControlPlane> {
  const at = idle.findLastIndex(({ copyOf }) => copyOf === options.copyOf);
  const [found] = at === -1 ? [] : idle.splice(at, 1);
  if (found !== undefined) await bringBack(found);
  return lend(found ?? (await start(options)));
}

async function start(options: Pick<ControlPlaneOptions, 'copyOf'>): Promise<Lent> {
  const controlPlane = await startControlPlane({ ...options, audit: true });
  return { controlPlane, objects: await controlPlane.rememberObjects(), copyOf: options.copyOf };
}

function lend(lent: Lent): ControlPlane {
  const { controlPlane } = lent;
  let isSound = true;
  const watch = async (): Promise<void> => {
    await controlPlane.failed;
    isSound = false;
  };
  void watch();
  let giving: Promise<void> | undefined;
  const giveBack = async (): Promise<void> => {
    if (!isSound) return controlPlane.stop();
    await bringBack(lent);
    idle.push(lent);
  };
  return {
    ...controlPlane,
    killApiServer() {
      isSound = false;
      return controlPlane.killApiServer();
    },
    rotateAuthority() {
      isSound = false;
      return controlPlane.rotateAuthority();
    },
    stop: () => (giving ??= giveBack()),
  };
}

async function bringBack({ controlPlane, objects }: Lent): Promise<void> {
  if ((await objects.bringBack()) > 0) await wait(HEARD_MS);
  await cutAuditLog(controlPlane.auditLog);
}
