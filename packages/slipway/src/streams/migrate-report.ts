import type { FleetPlan } from '@slipway/fleet/plan';
import type { Download } from './download.ts';

/** `-o json` gives exactly this. */
export interface MigrateReport {
  readonly pool: string;
  /** The stream it is on; null: nobody knows. */
  readonly from: string | null;
  readonly to: string;
  readonly dryRun: boolean;
  /** Whether the pool was told. */
  readonly changed: boolean;
  /** As `slipway plan -o json` has it. */
  readonly plan: FleetPlan;
  readonly download: Download;
  /** Commands that show how it goes, each with what it shows. */
  readonly watch: readonly string[];
}
