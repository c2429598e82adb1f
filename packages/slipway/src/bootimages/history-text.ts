import { type Cell, type Paint, plain, safeText, table } from '../cli/terminal.ts';
import type { HistoryEntry, HistoryReport } from './history-report.ts';
import { resourceWords } from './resource-words.ts';

export const historyText = (reports: readonly HistoryReport[], paint: Paint = plain): string =>
  reports.map((report) => reportText(report, paint)).join('\n');

function reportText({ resource, entries }: HistoryReport, paint: Paint): string {
  const title = safeText(`${resourceWords(resource)} of ${resource.api}`);
  if (entries.length === 0) return `${title}: its boot image has not been changed yet\n`;
  const lost = entries.some(({ image }) => image === null);
  return [
    `${paint('bold', title)}, the newest first\n`,
    table(['SET', 'VERSION', 'PAYLOAD', 'IMAGE'], entries.map(row), paint),
    ...(lost ? ['Images are kept of the last changes only: one without an image cannot be restored.\n'] : []),
  ].join('');
}

const row = ({ at, version, configMapGeneration, image }: HistoryEntry): Cell[] => [
  // When the image from before was set, nobody knows.
  version === null ? 'before' : timeText(at),
  version ?? '-',
  configMapGeneration === null ? '-' : `#${configMapGeneration}`,
  image ?? '-',
];

/** In UTC, as the API has it. */
const timeText = (at: string): string => (at === '' ? '-' : at.replace('T', ' ').replace(/(?:\.\d+)?Z$/, 'Z'));
