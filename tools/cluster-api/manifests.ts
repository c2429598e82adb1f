// Cluster API's manifests are for its own deployment: webhooks behind a Service, with a certificate of cert-manager.
// Here its controllers run beside the API server and serve their webhooks at an address.
import { parseAllDocuments } from 'yaml';

/** An object to install, in its format. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
}

export interface WebhookServer {
  /** `https://127.0.0.1:PORT` */
  readonly url: string;
  /** PEM. */
  readonly authority: string;
}

export interface ProviderManifests {
  readonly crds: readonly Manifest[];
  /** To install once the webhooks are served: until then every write would be refused. */
  readonly webhooks: readonly Manifest[];
}

/** `text`: CRDs and webhook configurations in YAML. `provider`: as its own deployment labels them. */
export function readProviderManifests(text: string, provider: string, server: WebhookServer): ProviderManifests {
  const caBundle = Buffer.from(server.authority).toString('base64');
  const all = parseAllDocuments(text).flatMap((document) => (document.toJS() as Installed | null) ?? []);
  const clientConfig = (path: string) => ({ url: `${server.url}${path}`, caBundle });
  return {
    crds: all
      .filter((object) => object.kind === 'CustomResourceDefinition')
      .map((definition) => withConversion(definition, provider, clientConfig('/convert'))),
    webhooks: all
      .filter((object) => object.kind !== 'CustomResourceDefinition')
      .map(({ apiVersion, kind, metadata, webhooks }) => ({
        apiVersion,
        kind,
        metadata: { name: `${provider}-${metadata.name}` },
        webhooks: webhooks.map((webhook) =>
          Object.assign(webhook, { clientConfig: clientConfig(webhook.clientConfig.service.path) }),
        ),
      })),
  };
}

interface Definition extends Manifest {
  readonly kind: 'CustomResourceDefinition';
  readonly spec: { readonly versions: readonly { readonly name: string }[]; readonly conversion?: object };
}

interface WebhookConfiguration extends Manifest {
  readonly kind: 'MutatingWebhookConfiguration' | 'ValidatingWebhookConfiguration';
  readonly webhooks: readonly { readonly clientConfig: { readonly service: { readonly path: string } } }[];
}

type Installed = Definition | WebhookConfiguration;

/** The contracts of Cluster API; a CRD's labels name its versions that implement one. */
const contracts = new Set(['v1beta1', 'v1beta2']);

function withConversion(definition: Definition, provider: string, clientConfig: object): Definition {
  const { metadata, spec } = definition;
  const kept = spec.versions.map(({ name }) => name).filter((name) => contracts.has(name));
  const labels = Object.fromEntries(kept.map((version) => [`cluster.x-k8s.io/${version}`, version]));
  const webhook = { clientConfig, conversionReviewVersions: ['v1'] };
  return {
    ...definition,
    metadata: { ...metadata, labels: { ...labels, 'cluster.x-k8s.io/provider': provider } },
    spec: { ...spec, conversion: { strategy: 'Webhook', webhook } },
  };
}
