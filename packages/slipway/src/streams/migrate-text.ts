// The move of a pool to another stream for people.
import { byteSize, counted, safeText, shortImage } from '../cli/terminal.ts';
import { planText, type TextOptions } from '../plan/plan-text.ts';
import type { Download } from './download.ts';
import type { MigrateReport } from './migrate-report.ts';

export function migrateText(report: MigrateReport, options: TextOptions): string {
  const { pool, from, to, plan, download, watch } = report;
  const head = `Pool ${pool}: stream ${from ?? '(not known)'} → ${to}`;
  const machines = plan.pools.flatMap(({ nodes }) => nodes).filter(({ isAffected }) => isAffected).length;
  return [
    `${safeText(head)}\n`,
    planText(plan, options),
    ...(machines === 0 ? [] : [`${safeText(downloadLines(download, machines).join('\n'))}\n`]),
    ...(watch.length === 0 ? [] : [`${safeText(['Watch', ...watch.map((line) => `  ${line}`)].join('\n'))}\n`]),
  ].join('\n');
}

function downloadLines(download: Download, machines: number): string[] {
  const { bytesPerMachine, problem } = download;
  const each = machines === 1 ? '1 machine' : `each of ${counted(machines, 'machine')}`;
  if (bytesPerMachine === null) {
    return [
      `Download: how much ${each} fetches is not known: ${problem ?? ''}`,
      '  (--pull-secret, --registry-ca and --registries-conf say how to ask)',
    ];
  }
  return [
    `Download: at most ${byteSize(bytesPerMachine)} for ${each}, less where layers are there already`,
    `  OS image ${shortImage(download.osImage)}: ${byteSize(download.osBytes ?? 0)}`,
    download.osExtensionsImage === null
      ? '  no image of OS extensions: the pool has none'
      : `  image of OS extensions ${shortImage(download.osExtensionsImage)}: ${byteSize(download.extensionsBytes ?? 0)}`,
  ];
}
