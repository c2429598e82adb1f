// Everything that DataImages have said of themselves, and whether it was so when they said it.
import { dataImages } from '@slipway/api';
import { createInformer } from '@slipway/kube';
import { insertedBefore, type DataImageScene } from './scene.ts';

export interface Claims {
  /** Of those who said that an ISO was attached while there was none in the drive. */
  falseOnes(): Promise<string[]>;
  /** Everything that one of them has said to be attached. */
  of(name: string): string[];
  count(): number;
  stop(): void;
}

export async function collectClaims(scene: DataImageScene): Promise<Claims> {
  const claims: { readonly name: string; readonly at: number; readonly said: string }[] = [];
  const images: { readonly name: string; readonly url: string }[] = [];
  const ended = new AbortController();
  const informer = createInformer(scene.client.transport, { resource: dataImages });
  informer.onChange((change) => {
    if (change.type === 'deleted') return;
    const { metadata, status } = change.object;
    if (status?.attachedImage !== undefined) images.push({ name: metadata.name, url: status.attachedImage.url });
    const condition = status?.conditions?.find(({ type }) => type === 'Attached');
    if (condition?.status !== 'True') return;
    claims.push({ name: metadata.name, at: Date.now(), said: condition.message ?? '' });
  });
  informer.start(ended.signal);
  await informer.synced;
  return {
    async falseOnes() {
      const found: string[] = [];
      for (const { name, at, said } of claims) {
        if (!insertedBefore(await scene.history(name), at)) found.push(`${name}: ${said}`);
      }
      return found;
    },
    of: (name) => [
      ...claims.filter((each) => each.name === name).map(({ said }) => said),
      ...images.filter((each) => each.name === name).map(({ url }) => url),
    ],
    count: () => claims.length,
    stop: () => ended.abort(),
  };
}
