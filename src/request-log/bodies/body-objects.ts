import type { SecretBox, WrappedKey } from '../../common/crypto/envelope.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import type { ByteRange, ObjectStore } from './object-store.js';

/** A body of a request: which one, and of which day and workspace. */
export interface BodyName {
  readonly requestId: string;
  readonly direction: string;
}

export interface BodyToKeep extends BodyName {
  readonly bytes: Buffer;
}

/** Where a body is kept in the bucket. */
export interface BodyPlace extends ByteRange {
  readonly key: string;
}

export interface BodyFolder {
  readonly organizationId: string;
  readonly workspaceId: string | null;
  /** `YYYY-MM-DD`, UTC, of arrival. */
  readonly day: string;
}

/** Folders of organizations stand below it, and below them one for each day. */
export const BODIES = 'bodies/';
const SHARED = 'none';

/** Whose bodies an object has, by its key (with the prefix of the bucket, if it has one); null for what is no object of bodies. */
export function ownerOf(key: string): Omit<BodyFolder, 'day'> | null {
  const [, organizationId, workspaceId] = OWNER.exec(key) ?? [];
  if (!organizationId || !workspaceId) return null;
  return { organizationId, workspaceId: workspaceId === SHARED ? null : workspaceId };
}

const OWNER = /(?:^|\/)bodies\/([^/]+)\/\d{4}-\d{2}-\d{2}\/([^/]+)\//;

const purposeOf = ({ requestId, direction }: BodyName): string[] => ['request body', requestId, direction];

/**
 * Bodies in the bucket. Those of a workspace and a day that are stored together are one object, because a store charges by the
 * object; each is sealed for itself with its organization's key, so whoever reads the bucket reads nothing, and one that is
 * moved to another request does not open.
 */
export class BodyObjects {
  constructor(
    private readonly store: ObjectStore,
    private readonly box: SecretBox,
  ) {}

  /** Resolves with the places, in order, when the bucket has them. */
  async put(
    key: WrappedKey,
    { organizationId, workspaceId, day }: BodyFolder,
    bodies: readonly BodyToKeep[],
    signal?: AbortSignal,
  ): Promise<readonly BodyPlace[]> {
    const name = `${BODIES}${organizationId}/${day}/${workspaceId ?? SHARED}/${uuidV7(Date.now())}`;
    const sealed = bodies.map((body) => this.box.sealOwn(key, purposeOf(body), body.bytes));
    let offset = 0;
    const places = sealed.map(({ length }) => {
      const place = { key: name, offset, length };
      offset += length;
      return place;
    });
    await this.store.put(name, Buffer.concat(sealed), { type: 'application/octet-stream' }, signal);
    return places;
  }

  /** Null when its object is gone: somebody else removed it. */
  async read(key: WrappedKey, name: BodyName, place: BodyPlace): Promise<Buffer | null> {
    const sealed = await this.store.read(place.key, place);
    return sealed && this.box.openOwn(key, purposeOf(name), sealed);
  }
}
