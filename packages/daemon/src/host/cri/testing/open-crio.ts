// The client of a CRI-O that a test started.
import type { RunningCrio } from '@slipway/tools/crio';
import { createDisk } from '../../disk.ts';
import { createCrio, type Crio } from '../cri-o.ts';

export const openCrio = (of: RunningCrio): Crio =>
  createCrio({
    root: of.root,
    files: createDisk({ root: of.root }),
    reload: () => of.reload(),
    async restart() {
      await of.kill();
      await of.start();
    },
  });
