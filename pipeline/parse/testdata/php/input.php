<html><?php
declare(strict_types=1);
namespace App\Models;

use Illuminate\Support\Str;
use App\{Foo, Bar\Baz as Q};
use function App\helper;
require_once 'lib/x.php';

#[Attr(1)]
// c
final class User extends Model implements I
{
    use HasRoles;
    const A = "a";
    #[Route("/x")]
    public function name(int $a,
        string $b = 'q'): ?string
    {
        $f = function ($x) { return "v {$x->y} $z"; };
        return <<<EOT
        hi $name
        EOT;
    }
    abstract protected function later(): void;
    public static function make() { return new class extends Foo { public function anon() {} }; }
}
interface I { public function x(); }
trait HasRoles { public function role() {} }
enum Suit: string { case A = 'a'; public function label() {} }
function top(array $a) {}
$closure = fn($x) => $x + 1;
?></html>
