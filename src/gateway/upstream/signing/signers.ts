import { Injectable } from '@nestjs/common';
import { Egress } from '../../../egress/egress.js';
import { WorkloadIdentity } from '../../../external-credentials/workload-identity/workload-identity.js';
import type { SignerId } from '../../../providers/auth-scheme.js';
import { AwsSigner } from './aws-signer.js';
import { AzureSigner } from './azure-signer.js';
import { GoogleSigner } from './google-signer.js';
import type { Signer } from './signer.js';

/** The signers, each with its tokens. */
@Injectable()
export class Signers {
  private readonly signers: Readonly<Record<SignerId, Signer>>;

  constructor(egress: Egress, identity: WorkloadIdentity) {
    this.signers = {
      'aws-sigv4': new AwsSigner(egress, identity),
      'google-service-account': new GoogleSigner(egress, identity),
      'azure-entra': new AzureSigner(egress, identity),
    };
  }

  signerFor(id: SignerId): Signer {
    return this.signers[id];
  }
}
