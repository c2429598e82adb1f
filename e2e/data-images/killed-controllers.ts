// Controllers that are killed before and after every call to Ironic that changes something, once for each place.
import type { Ironic } from '@slipway/fleet/hosts';
import type { RunningControllers } from '@slipway/testing/run-controllers';
import type { DataImageScene } from './scene.ts';

export interface KilledControllers {
  /** Places are new ones again. */
  nextChapter(): void;
  /** Where they were killed so far. */
  readonly kills: readonly string[];
  stop(): Promise<void>;
}

const changing = ['register', 'update', 'provision', 'power', 'setMaintenance', 'remove', 'attach', 'detach'] as const;

export async function runKilledControllers(scene: DataImageScene): Promise<KilledControllers> {
  const kills: string[] = [];
  const seen = new Set<string>();
  let chapter = 0;
  let isOver = false;
  let running: RunningControllers;

  const dieAt = (place: string): boolean => {
    if (isOver || seen.has(`${chapter} ${place}`)) return false;
    seen.add(`${chapter} ${place}`);
    kills.push(place);
    return true;
  };

  async function start(): Promise<void> {
    const dead = Promise.withResolvers<void>();
    running = await scene.run({ through: (ironic) => mortal(ironic, dieAt, () => dead.resolve()) });
    void startAnotherAfter(dead.promise, running);
  }

  async function startAnotherAfter(dead: Promise<void>, life: RunningControllers): Promise<void> {
    await dead;
    life.kill();
    await life.stop();
    if (!isOver) await start();
  }

  await start();
  return {
    kills,
    nextChapter() {
      chapter += 1;
    },
    async stop() {
      isOver = true;
      running.kill();
      await running.stop();
    },
  };
}

/** Of a process that ends at a place, nothing is heard any more. */
function mortal(ironic: Ironic, dieAt: (place: string) => boolean, onDeath: () => void): Ironic {
  let isDead = false;
  const die = (): never => {
    isDead = true;
    onDeath();
    throw new Error('the process is dead');
  };
  return new Proxy(ironic, {
    get(target, property: keyof Ironic) {
      const method = target[property] as (...args: unknown[]) => Promise<unknown>;
      if (!changing.some((each) => each === property)) return method;
      return async (...args: unknown[]) => {
        const place = typeof args[1] === 'string' && property !== 'attach' ? `${property} ${args[1]}` : property;
        if (isDead || dieAt(`before ${place}`)) die();
        const answer = await method(...args);
        if (dieAt(`after ${place}`)) die();
        return answer;
      };
    },
  });
}
