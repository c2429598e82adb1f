// The operating system's own notice of changes, so that nothing has to be asked again and again.
import { watch } from 'node:fs';
import { join } from 'node:path';
import type { DirectoryEvent } from './interest.ts';

export interface DirectoryWatcher {
  /** What happens to names in a directory of the machine, itself no link. Throws the error of the operating system. */
  watch(directory: string, onEvent: (event: DirectoryEvent) => void): { close(): void };
}

/** With inotify, one watch a directory. */
export function createDirectoryWatcher({ root }: { readonly root: string }): DirectoryWatcher {
  return {
    watch(directory, onEvent) {
      const watcher = watch(join(root, directory), { persistent: false, encoding: 'utf8' });
      watcher.on('change', (type, name) => {
        onEvent({ type: type === 'rename' ? 'rename' : 'change', name: typeof name === 'string' ? name : null });
      });
      // It sees no more: who watches looks at everything and watches anew.
      watcher.on('error', () => onEvent({ type: 'rename', name: null }));
      return { close: () => watcher.close() };
    },
  };
}
