import { join } from 'node:path';
import type { ChangeFeed } from '../common/changes/change.js';
import type { SecretBox } from '../common/crypto/envelope.js';
import type { Secret } from '../common/settings/secret.js';
import type { Queryable } from '../database/queryable.js';
import { Egress } from '../egress/egress.js';
import { ClientAddresses } from '../common/http/client-address.js';
import { createLogger } from '../common/observability/logger.js';
import type { Settings } from '../common/settings/settings.js';
import { SnapshotFolder } from './directories/snapshot/snapshot-folder.js';
import { SnapshotSeal } from './directories/snapshot/snapshot-seal.js';
import type { AnswerStore, LimitStore, VectorStore } from '../gateway/ports.js';
import { BusOutageNews } from './changes/bus-outage-news.js';
import { CHANGES_CHANNEL } from './changes/change-message.js';
import { DirectorySnapshot } from './directories/directory-snapshot.js';
import { GenaiModelCatalog } from './prices/genai-model-catalog.js';
import type { RememberingDirectory } from './directories/snapshot/memory.js';
import { GenaiPriceBook } from './prices/genai-price-book.js';
import { PriceData } from './prices/price-data.js';
import { PostgresAnswerStore } from './cached-answers/postgres-answer-store.js';
import { PostgresApiKeyDirectory } from './directories/postgres-api-key-directory.js';
import { PostgresChangeFeed } from './changes/postgres-change-feed.js';
import { PostgresConfigDirectory } from './directories/postgres-config-directory.js';
import { PostgresLimitStore } from './limits/postgres-limit-store.js';
import { PostgresGuardrailDirectory } from './directories/postgres-guardrail-directory.js';
import { PostgresUsableKeys } from './directories/postgres-usable-keys.js';
import { PostgresVectorStore } from './cached-answers/postgres-vector-store.js';
import { PostgresVirtualKeyDirectory } from './directories/postgres-virtual-key-directory.js';
import { PostgresSessionDirectory } from './sessions/postgres-session-directory.js';
import { SealedAnswerStore } from './cached-answers/sealed-answer-store.js';
import { SealedVectorStore } from './cached-answers/sealed-vector-store.js';
import { SecretManagers } from '../external-credentials/secret-managers/secret-managers.js';
import { MachineIdentity } from '../external-credentials/workload-identity/machine-identity.js';
import type { WorkloadIdentity } from '../external-credentials/workload-identity/workload-identity.js';
import { MappedCredentials } from './directories/mapped-credentials.js';
import { SecretValues } from './directories/secret-values.js';
import { refusedCredentials } from '../auth/identity/refused-credentials.js';
import { RefusedCredentialWriter } from './refused-credential-writer.js';
import { SpoolLogSink } from './spool-log-sink.js';
import { IntroducingTokenDirectory } from './tokens/introducing-token-directory.js';
import { PostgresTokenDirectory } from './tokens/postgres-token-directory.js';

/** Builds the adapters that depend on settings, for every process that needs them. */

export function apiKeyDirectory(database: Queryable, changes: ChangeFeed, settings: Settings) {
  const pepper = required(settings.keyPepper, 'GATEHOUSE_KEY_PEPPER');
  return new PostgresApiKeyDirectory(database, changes, { pepper, staleKeysMs: settings.staleKeysMs });
}

export function sessionDirectory(database: Queryable, changes: ChangeFeed, settings: Settings) {
  const pepper = required(settings.keyPepper, 'GATEHOUSE_KEY_PEPPER');
  return new PostgresSessionDirectory(database, changes, pepper, settings.sessions);
}

export function tokenDirectory(
  database: Queryable,
  changes: ChangeFeed,
  outside: Egress,
  { staleKeysMs }: Settings,
) {
  return new PostgresTokenDirectory(database, changes, outside, staleKeysMs);
}

/** For a process that creates no users itself. */
export function introducingTokenDirectory(
  database: Queryable,
  changes: ChangeFeed,
  outside: Egress,
  settings: Settings,
) {
  const tokens = tokenDirectory(database, changes, outside, settings);
  return settings.adminSocket === undefined
    ? tokens
    : new IntroducingTokenDirectory(tokens, settings.adminSocket);
}

/** It and the catalog of models share the operator's file. */
export function priceBook({ pricesFile }: Settings): GenaiPriceBook {
  return new GenaiPriceBook(PriceData.of(pricesFile));
}

export function modelCatalog({ pricesFile }: Settings): GenaiModelCatalog {
  return new GenaiModelCatalog(PriceData.of(pricesFile));
}

type VirtualKeyParts = readonly [Queryable, ChangeFeed, SecretBox, Settings, MappedCredentials];

export const virtualKeyDirectory = (...[database, changes, secrets, settings, mapped]: VirtualKeyParts) =>
  new PostgresVirtualKeyDirectory(database, changes, secrets, settings.staleKeysMs, mapped);

export function mappedCredentials(
  managers: SecretManagers,
  secrets: SecretBox,
  { staleKeysMs: staleMs, externalCredentials: { ttlMs } }: Settings,
): MappedCredentials {
  return new MappedCredentials(new SecretValues(managers, secrets, { ttlMs, staleMs }));
}

export const workloadIdentity = (outside: Egress, { externalCredentials }: Settings): WorkloadIdentity =>
  new MachineIdentity(outside, externalCredentials);

export const secretManagers = (
  outside: Egress,
  identity: WorkloadIdentity,
  { externalCredentials }: Settings,
): SecretManagers => new SecretManagers(outside, identity, externalCredentials.folder);

export function usableKeys(database: Queryable, changes: ChangeFeed, { staleKeysMs }: Settings) {
  return new PostgresUsableKeys(database, changes, staleKeysMs);
}

export function guardrailDirectory(
  database: Queryable,
  changes: ChangeFeed,
  secrets: SecretBox,
  { staleKeysMs }: Settings,
) {
  return new PostgresGuardrailDirectory(database, changes, secrets, staleKeysMs);
}

export function configDirectory(database: Queryable, changes: ChangeFeed, { staleKeysMs }: Settings) {
  return new PostgresConfigDirectory(database, changes, staleKeysMs);
}

export function directorySnapshot(settings: Settings, ...directories: readonly RememberingDirectory[]) {
  const memories = directories.flatMap((directory) => directory.memories);
  const { dataDir, processes, staleKeysMs } = settings;
  const seal = new SnapshotSeal({
    masterKey: required(settings.masterKey, 'GATEHOUSE_MASTER_KEY'),
    keyPepper: required(settings.keyPepper, 'GATEHOUSE_KEY_PEPPER'),
    databaseUrl: required(settings.databaseUrl, 'DATABASE_URL'),
  });
  return new DirectorySnapshot(memories, new SnapshotFolder(dataDir, seal), {
    places: processes,
    isWanted: staleKeysMs > 0,
  });
}

export function logSink({ dataDir }: Settings) {
  return new SpoolLogSink({ spool: join(dataDir, 'spool'), logger: createLogger('spool') });
}

/** The process leases limits under the name of its spool, because the records in it settle its leases. */
export async function limitStore(
  database: Queryable,
  logs: SpoolLogSink,
  { redisUrl }: Settings,
): Promise<LimitStore> {
  const postgres = new PostgresLimitStore(database, logs.writerId);
  if (!redisUrl) return postgres;
  const { RedisLimitStore } = await import('./limits/redis-limit-store.js');
  return new RedisLimitStore(postgres, redisUrl);
}

export async function answerStore(
  database: Queryable,
  secrets: SecretBox,
  { redisUrl, cacheStoreBytes }: Settings,
): Promise<AnswerStore> {
  if (!redisUrl) return new SealedAnswerStore(new PostgresAnswerStore(database), secrets);
  const { RedisAnswerStore } = await import('./cached-answers/redis-answer-store.js');
  return new SealedAnswerStore(new RedisAnswerStore(redisUrl, cacheStoreBytes), secrets);
}

/** In PostgreSQL wherever the responses are: vectors are small, and are searched by namespace. */
export function vectorStore(database: Queryable, secrets: SecretBox): VectorStore {
  return new SealedVectorStore(new PostgresVectorStore(database), secrets);
}

/** Loads the Redis client only if Redis is configured. */
export async function changeFeed({ redisUrl, databaseUrl }: Settings): Promise<ChangeFeed> {
  if (!redisUrl) return new PostgresChangeFeed(required(databaseUrl, 'DATABASE_URL'));
  const { RedisChangeFeed } = await import('./changes/redis-change-feed.js');
  return new RedisChangeFeed(redisUrl);
}

export async function outageNews(database: Queryable, changes: ChangeFeed, { redisUrl }: Settings) {
  if (!redisUrl) {
    const send = (message: string) => database.query('SELECT pg_notify($1, $2)', [CHANGES_CHANNEL, message]);
    return new BusOutageNews({ send, close: () => undefined }, changes);
  }
  const { connectForChanges } = await import('./redis-connection.js');
  const redis = connectForChanges(redisUrl, { lazyConnect: true, maxRetriesPerRequest: 1 });
  const send = (message: string) => redis.publish(CHANGES_CHANNEL, message);
  return new BusOutageNews({ send, close: () => redis.disconnect() }, changes);
}

export function egress(settings: Settings): Egress {
  const { egressAllow, timeouts, proxies, upstreamConnections, httpClient } = settings;
  return new Egress({
    allow: egressAllow,
    timeouts,
    proxies,
    connections: upstreamConnections,
    client: httpClient,
  });
}

export function clientAddresses({ trustedProxies }: Settings): ClientAddresses {
  return new ClientAddresses(trustedProxies);
}

/** "gatehouse start" provides the values that the operator did not set. */
function required(secret: Secret | undefined, name: string): Secret {
  if (!secret) throw new Error(`This process needs ${name}; "gatehouse start" gives it one.`);
  return secret;
}

export const refusedCredentialWriter = (database: Queryable): RefusedCredentialWriter =>
  new RefusedCredentialWriter(refusedCredentials.recent, database);
