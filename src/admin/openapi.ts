import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { API_KEY_SECURITY } from './admin-controller.js';

/** The OpenAPI document of the administration, made from its controllers. */
export function buildOpenApi(app: INestApplication): OpenAPIObject {
  const head = new DocumentBuilder()
    .setTitle('Gatehouse administration')
    .setDescription(
      'API keys, virtual keys and request logs. The data plane speaks the dialects of the providers.',
    )
    .setVersion('1')
    .addApiKey({ type: 'apiKey', in: 'header', name: 'x-gateway-api-key' }, API_KEY_SECURITY)
    .build();
  return SwaggerModule.createDocument(app, head, { operationIdFactory });
}

/** `VirtualKeysController.create` becomes `virtualKeysCreate`: a name for generated clients that stays the same. */
function operationIdFactory(controller: string, method: string, version?: string): string {
  const resource = controller.replace(/Controller$/, '');
  const name =
    resource.charAt(0).toLowerCase() + resource.slice(1) + method.charAt(0).toUpperCase() + method.slice(1);
  return version ? `${name}${version}` : name;
}
