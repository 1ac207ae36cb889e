<?php
// The C interface of Selene for PHP's FFI, read from the header itself: selene.h, without its comments and directives, is
// what FFI::cdef takes, so nothing here is a copy that could fall behind.
//
// A program in PHP has one thread: it pulls. Schedulers are opened with SELENE_OPTIONS_NO_THREADS, and whatever would call
// PHP from a thread of the library is refused as UNSUPPORTED.
//
// SELENE_HEADER and SELENE_LIBRARY say where the two are; without them where pkg-config finds them.
declare(strict_types=1);

namespace Selene;

use FFI;
use FFI\CData;

/** What a call refuses: `status` is the name ("NOT_FOUND"), the message its detail. */
final class Failure extends \RuntimeException
{
    public function __construct(public readonly string $status, string $detail)
    {
        parent::__construct($detail);
    }
}

/** The library: Selene::lib()->c->selene_… are its functions, Selene\number('SECOND') the numbers of the header. */
final class Library
{
    private static ?Library $loaded = null;

    public readonly FFI $c;
    /** @var array<string, int> the macros of the header that are numbers */
    public readonly array $numbers;

    private function __construct()
    {
        $header = file_get_contents(getenv('SELENE_HEADER') ?: self::find('includedir') . '/selene.h');
        $header = str_replace("\\\n", ' ', preg_replace('~/\*.*?\*/~s', ' ', $header));
        preg_match_all('/^#define SELENE_(\w+) (?:INT64_C\()?(\d+)U?\)?$/m', $header, $found);
        $this->numbers = array_map(intval(...), array_combine($found[1], $found[2])) + ['NEVER' => PHP_INT_MAX, 'NONE' => -1];
        $text = preg_replace(['/^#.*$/m', '/extern "C" \{(.*)\}/s', '/SELENE_API/'], ['', '$1', ''], $header);
        $text = preg_replace_callback('/\[SELENE_(\w+)\]/', fn ($name) => "[{$this->numbers[$name[1]]}]", $text);
        $this->c = FFI::cdef($text, getenv('SELENE_LIBRARY') ?: self::find('libdir') . '/libselene.so');
    }

    public static function load(): Library
    {
        return self::$loaded ??= new Library();
    }

    private static function find(string $variable): string
    {
        return exec("pkg-config --variable=$variable selene 2>/dev/null")
            ?: throw new \RuntimeException('selene: pkg-config does not find it; SELENE_HEADER and SELENE_LIBRARY may say where it is');
    }
}

/** A number of the header without its prefix: number('SCHEDULE_ONCE'), number('SECOND'). */
function number(string $name): int
{
    $library = Library::load();
    return $library->numbers[$name] ?? $library->c->{"SELENE_$name"};
}

/** Calls a function that answers a status; what is not OK is thrown: call('task_register', $scheduler, $task, null). */
function call(string $name, mixed ...$arguments): void
{
    $c = Library::load()->c;
    $given = array_map(fn ($one) => $one instanceof Struct ? FFI::addr($one->c) : $one, $arguments);
    $status = $c->{"selene_$name"}(...$given);
    if ($status !== 0) {
        throw new Failure($c->selene_name($c->SELENE_NAMES_STATUS, $status), text($c->selene_error_last()->message));
    }
}

/** The same, and what its last parameter points to, of this C type: get('selene_cycle', 'cycle_begin', $scheduler, …). */
function get(string $type, string $name, mixed ...$arguments): mixed
{
    $out = Library::load()->c->new("{$type}[1]");
    call($name, ...[...$arguments, $out]);
    return $out[0];
}

/** What the library lends, as a string. */
function text(CData $text): string
{
    return $text->length > 0 ? FFI::string($text->data, $text->length) : '';
}

/** A struct with its defaults: new Struct('task', ['id' => 'a']). Its texts live as long as it does. */
final class Struct
{
    public readonly CData $c;
    /** @var list<CData> the memory of its texts */
    private array $kept = [];

    /** @param array<string, int|float|string|list<string>> $fields strings are texts, or the input of a task */
    public function __construct(string $name, array $fields = [])
    {
        $library = Library::load()->c;
        $this->c = $library->new("selene_$name");
        $this->c->struct_size = FFI::sizeof($this->c);
        foreach ($fields as $field => $value) {
            if ($field === 'input') {
                $this->c->input = $this->keep($value);
                $this->c->input_length = strlen($value);
            } elseif (is_string($value)) {
                $this->write($this->c->$field, $value);
            } elseif (is_array($value)) {
                $this->kept[] = $list = $library->new('selene_text[' . (count($value) + 1) . ']');
                foreach ($value as $place => $one) {
                    $this->write($list[$place], $one);
                }
                $this->c->$field = $library->cast('selene_text *', $list);
                $this->c->{($field === 'tags' || $field === 'conditions' ? substr($field, 0, -1) : $field) . '_count'} = count($value);
            } else {
                $this->c->$field = $value;
            }
        }
    }

    private function write(CData $text, string $value): void
    {
        $text->data = $this->keep($value);
        $text->length = strlen($value);
    }

    private function keep(string $value): CData
    {
        $bytes = FFI::new('char[' . (strlen($value) + 1) . ']');
        FFI::memcpy($bytes, $value, strlen($value));
        $this->kept[] = $bytes;
        return FFI::cast('char *', $bytes);
    }
}

/**
 * A scheduler without threads of its own, whose work is pulled.
 *
 * @param array<string, int|string|list<string>> $fields those of selene_options
 */
function open(array $fields = []): int
{
    $options = new Struct('options', $fields);
    $options->c->flags |= number('OPTIONS_NO_THREADS');
    return get('selene_scheduler', 'scheduler_open', $options);
}
