// Details of a problem that stay on the machine: diffs of files, and what programs and units print. They may contain
// anything, so the cluster gets a summary, and the journal of the machine the rest.
import { maskSecrets } from '@slipway/base/masking';
import { truncate } from '@slipway/base/text';

/** The unit of the daemon, as the kubelet's log query names it. */
export const DAEMON_SERVICE = 'machine-config-daemon';
/** Separates details from the log of the daemon, so that a forwarder of logs can leave them out. */
export const DETAILS_IDENTIFIER = 'machine-config-details';
/** Shows the details on the machine. */
export const DETAILS_COMMAND = `journalctl -u ${DAEMON_SERVICE} -t ${DETAILS_IDENTIFIER}`;

const MAX_LINES = 200;
const MAX_LINE_CHARS = 500;

/** The lines for the journal. They are masked too: journals are forwarded, and read by more users than the files. */
export function formatDetails(title: string, text: string): string {
  const lines = maskSecrets(`${title}\n${text.trimEnd()}`).split('\n');
  const shown = lines.slice(0, MAX_LINES).map((line) => truncate(line, MAX_LINE_CHARS));
  const left = lines.length - shown.length;
  return [...shown, ...(left > 0 ? [`… and ${left} more lines`] : []), ''].join('\n');
}

const MAX_SHOWN_LINES = 80;

/** The last details in the answer of the kubelet's log query, which has one entry of the journal per line. */
export function readDetails(answer: string): string[] {
  const mark = new RegExp(` ${DETAILS_IDENTIFIER}\\[\\d+\\]: `);
  const lines = answer.split('\n').filter((line) => mark.test(line));
  return maskSecrets(lines.join('\n'))
    .split('\n')
    .filter((line) => line !== '')
    .slice(-MAX_SHOWN_LINES);
}
