// What was verified once may not be so any more: a host that Ironic adopts anew has its drive emptied by that, and somebody may
// have changed the medium. Until it is known, attached is not said.
import type { DataImageFindings } from './data-image-status.ts';
import { mediumOf } from './drive-memory.ts';
import type { HostFacts } from './host-step.ts';

/** To adopt a node empties its drive, and nobody has asked for anything since: what was attached may be out. */
export const isFreshlyAdopted = ({ host, node }: HostFacts): boolean =>
  host.memory?.doing === 'adopt' && node?.provisionState === 'active';

/** The findings as they are, or with the doubt in them. */
export function withDoubt(findings: DataImageFindings, facts: HostFacts, besideOperator: boolean): DataImageFindings {
  const { dataImage } = facts;
  if (dataImage === null || mediumOf(dataImage) !== 'attached') return findings;
  const doubt = besideOperator || facts.host.isForeign ? contradiction(facts) : doubtOfOurs(facts);
  if (doubt === null) return findings;
  const message = `${dataImage.memory?.url} was in the drive, but ${doubt}`;
  return { ...findings, attachedImage: undefined, attached: { status: 'Unknown', reason: 'NotVerified', message } };
}

function doubtOfOurs(facts: HostFacts): string | null {
  const { host, node } = facts;
  const isRegistering = !host.isDetached && !host.isDeleting && node?.provisionState !== 'active';
  if (isRegistering)
    return 'Ironic has to adopt the host again, which ejects what is there: it is looked at after that';
  if (isFreshlyAdopted(facts) && facts.drive === null) {
    return `Ironic has adopted the host again, and the drive cannot be read: ${facts.driveProblem ?? 'it was not asked'}`;
  }
  return contradiction(facts);
}

function contradiction({ drive, dataImage }: HostFacts): string | null {
  if (drive === null) return null;
  if (!drive.inserted) return 'the drive is empty now';
  return drive.image === dataImage?.memory?.reported ? null : `now ${drive.image} is`;
}
