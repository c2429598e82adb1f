/** Lines of `systemctl show`. */
export function parseProperties(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    text
      .split('\n')
      .filter((line) => line.includes('='))
      .map((line): [string, string] => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
}

export type Verdict =
  | { readonly kind: 'done' }
  /** It runs, but of such a unit systemd says so as soon as there is a process. */
  | { readonly kind: 'perhaps' }
  | { readonly kind: 'failed'; readonly why: string };

/** Types of which systemd knows when they are ready; it has then waited for that. */
const TELL_WHEN_READY = new Set(['notify', 'notify-reload', 'dbus', 'forking', 'oneshot']);

/** What became of a unit after `systemctl restart` has said that all is well. */
export function judgeRestart(properties: Readonly<Record<string, string>>): Verdict {
  const told = (name: string) => properties[name] ?? '';
  if (told('ActiveState') === 'failed' || !['', 'success'].includes(told('Result'))) {
    return { kind: 'failed', why: `it failed (${told('Result')}).` };
  }
  if (told('SubState').startsWith('auto-restart') || Number(told('NRestarts')) > 0) {
    return { kind: 'failed', why: 'it ends as soon as it has started, and systemd starts it again and again.' };
  }
  // Ended, and well: there was nothing more to do for it. What is no service (a socket, a timer) has no type.
  const isReady = told('ActiveState') === 'inactive' || told('Type') === '' || TELL_WHEN_READY.has(told('Type'));
  return { kind: isReady ? 'done' : 'perhaps' };
}
